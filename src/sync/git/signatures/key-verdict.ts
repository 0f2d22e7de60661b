/** Tells whether a file of signers allows the key that signed a commit. */
export type KeyVerdict =
  | {
      readonly state: 'Valid';
      readonly name: string;
      /** Every name and every key that the file lists for the person with this key. Absent: the name alone. */
      readonly person?: readonly string[];
    }
  /** The file does not list the key. */
  | { readonly state: 'Unknown'; readonly name: string }
  /** The file lists it, and the signature does not count: the reason completes "commit X: …". */
  | { readonly state: 'Refused'; readonly because: string };
