import { testMistypedAddresses } from "../support/mistyped-addresses.ts";

testMistypedAddresses(1);
