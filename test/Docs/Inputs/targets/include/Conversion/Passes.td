def TesseraAttachChip : Pass<"tessera-attach-chip"> {
  let options = [Option<"target", "target", "std::string", "", "">];
}
def TesseraMap : Pass<"tessera-map"> {
  let options = [
    Option<"flags", "flags", "std::string", "", "">,
    Option<"chip", "chip", "std::string", "", "">];
}
