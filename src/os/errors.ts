/** What can go wrong on this machine. `where` and `hint` are printed by the command line. */
export type LocalErrorCode =
  | 'Unsupported' // this platform has no upstream binaries
  | 'NoBinaries' // none found, and no way to get them
  | 'Download' // the download failed for good
  | 'Checksum' // what arrived is not what was announced
  | 'Build' // go build failed
  | 'DiskFull'
  | 'NoAccess' // a file or folder that this user may not use
  | 'PortInUse'
  | 'NotReady' // started, and did not become ready in time
  | 'Exited' // ended before it was ready
  | 'CorruptState'
  | 'BadFolder' // holds what is not ours
  | 'NotFound';

export interface LocalErrorDetails {
  /** The file, folder, port, URL or process. */
  readonly where?: string;
  /** What to do now. */
  readonly hint?: string;
  readonly cause?: unknown;
}

export class LocalError extends Error {
  override readonly name = 'LocalError';
  readonly code: LocalErrorCode;
  readonly where: string | undefined;
  readonly hint: string | undefined;

  constructor(code: LocalErrorCode, message: string, details: LocalErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.where = details.where;
    this.hint = details.hint;
  }
}

export function isLocalError(error: unknown, ...codes: LocalErrorCode[]): error is LocalError {
  return error instanceof LocalError && (codes.length === 0 || codes.includes(error.code));
}

/** The code that Node gives to errors of the operating system: ENOENT, EADDRINUSE. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : undefined;
}
