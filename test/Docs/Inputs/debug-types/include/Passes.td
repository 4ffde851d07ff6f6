def Good : Pass<"planted-good", "ModuleOp"> {}
def Missing
    : Pass<"planted-missing"> {}
def Wrong : Pass<"planted-wrong"> {}
