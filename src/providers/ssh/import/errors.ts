/** Names what can go wrong with the program of the agent on a host, each with a hint. No error carries a secret. */
import { OsError } from '../../../os/errors.ts';

const HINTS = {
  HostInUse: 'import another host, or delete the other Machine first: that releases the host',
  ProgramMissing:
    'run `npm run build:agent` in a checkout on a machine of this architecture, and start the controllers with --agent-programs and its folder dist/agent',
  ToolsMissing: 'install gzip and coreutils on the host',
  NoSpace: 'free some space on the file system of /var/lib of the host',
  ReadOnly: 'make /var/lib of the host writable (mount -o remount,rw), and find out why it is not',
  NotWritten: 'check the file system of /var/lib of the host (dmesg, df)',
  VerifyFailed:
    'make the program again (`npm run build:agent`): the file is damaged, or not the one of its list',
  ProgramRefused:
    'check that /var/lib of the host is not mounted with noexec, and that its libc is glibc 2.28 or later',
  NotInstalled: 'retry the import: it installs the program first',
  FileInUse:
    'remove the file of the host, or the key registries.json of the Secret with the SSH key, and retry the import',
  WrongCertificate: 'retry the import: it asks for a certificate once more',
  AgentFailed: 'read the message, correct it on the host, and retry the import',
  BadAnswer: 'retry the import with programs and controllers of the same version',
} as const;

/** HostInUse is final for a Machine; the others can be solved and retried. */
export type ImportErrorCode = keyof typeof HINTS;

export class ImportError extends OsError<ImportErrorCode> {
  override readonly name = 'ImportError';

  /** `where` is the host, as `user@address:port`, or a file of the programs. */
  constructor(code: ImportErrorCode, message: string, { where, cause }: { where: string; cause?: unknown }) {
    super(code, message, { where, hint: HINTS[code], cause });
  }
}

export function isImportError(error: unknown, ...codes: ImportErrorCode[]): error is ImportError {
  return error instanceof ImportError && (codes.length === 0 || codes.includes(error.code));
}

export function isImportErrorCode(text: string): text is ImportErrorCode {
  return Object.hasOwn(HINTS, text);
}
