export { parseKey } from "./note";
export { LineCutter, RangeCheck } from "./range";
export { verifyReceipt } from "./receipt";
