/** Lists the codes of errors of the operating system and of downloads. The command line prints `where` and `hint` of any error. */
export type OsErrorCode =
  | 'Unsupported' // the platform lacks something that we need, such as /proc
  | 'Download' // the download failed, and retrying did not help
  | 'Checksum' // the downloaded content has another checksum than published
  | 'DiskFull'
  | 'NoAccess' // this user may not use a file, folder or port
  | 'PortInUse'
  | 'BadInput' // a file that a person named is missing or not what it should be
  | 'Exited' // the process could not be started, or ended at once
  | 'NotStopped'; // the process did not end after SIGKILL

export interface OsErrorDetails {
  /** The file, folder, port, URL or process that the error is about. */
  readonly where?: string;
  /** The hint what to do about the error. It names no flag or setting of a program: the caller knows its own and adds them. */
  readonly hint?: string;
  readonly cause?: unknown;
}

export class OsError<Code extends string = OsErrorCode> extends Error {
  override readonly name: string = 'OsError';
  readonly code: Code;
  readonly where: string | undefined;
  readonly hint: string | undefined;

  constructor(code: Code, message: string, details: OsErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.where = details.where;
    this.hint = details.hint;
  }
}

/** Returns the code that Node gives to errors of the operating system, such as ENOENT or EADDRINUSE. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : undefined;
}

/** Returns the message of any value that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
