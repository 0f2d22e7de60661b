/** Keeps what the git host accepted until the hub has recorded it: a hub that does not answer must not make us send it again and again. */
export interface AcceptedRecord<T> {
  /** Keeps the record, in place of the one before, and writes it. */
  add(record: T): Promise<void>;
  /** Writes what is not written yet. */
  record(): Promise<void>;
  /** Forgets what is not written: another process may have written since. */
  forget(): void;
}

export function createAcceptedRecord<T extends object>(
  write: (record: T) => Promise<void>,
): AcceptedRecord<T> {
  let unrecorded: T | undefined;
  return {
    add(record) {
      unrecorded = record;
      return recordAll();
    },
    record: recordAll,
    forget() {
      unrecorded = undefined;
    },
  };

  async function recordAll(): Promise<void> {
    if (!unrecorded) return;
    await write(unrecorded);
    unrecorded = undefined;
  }
}
