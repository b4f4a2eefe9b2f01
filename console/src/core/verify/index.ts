export { parseKey } from "./note";
export { verifyReceipt } from "./receipt";
