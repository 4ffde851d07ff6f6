return emitOpError() << "planted_c2: K is positive";
return emitOpError("covered_c2: K is even");
