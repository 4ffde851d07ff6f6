def Covered : Pass<"tessera-covered"> {}
def Planted : Pass<"tessera-planted"> {}
