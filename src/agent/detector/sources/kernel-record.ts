/** Records of /dev/kmsg: `priority,sequence,microseconds since the boot,flags;message`. Pure. */

export interface KernelRecord {
  readonly sequence: number;
  readonly sinceBootMs: number;
  readonly message: string;
}

const RECORD = /^\d+,(?<sequence>\d+),(?<microseconds>\d+),[^;]*;(?<message>[^\n]*)/;

/** Parses a record. Undefined for what is not one. Lines after the first are fields for machines. */
export function parseKernelRecord(text: string): KernelRecord | undefined {
  const { sequence, microseconds, message = '' } = RECORD.exec(text)?.groups ?? {};
  if (sequence === undefined) return undefined;
  return { sequence: Number(sequence), sinceBootMs: Number(microseconds) / 1000, message: message.trim() };
}
