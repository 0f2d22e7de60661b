/** Converts errors of this machine to errors of a provider. */
import { messageOf, OsError, systemCode } from '../../os/errors.ts';
import { toDiskError } from '../../os/files.ts';
import { ProviderError, type ProviderErrorCode } from '../contract.ts';

const CODES: Readonly<Record<string, ProviderErrorCode>> = {
  DiskFull: 'Quota',
  NoAccess: 'Auth',
  Unsupported: 'Terminal',
};

/** The codes of a system that has too many processes or files, or too little memory. */
const BUSY = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'];

/** Returns the error as an error of a provider. `otherwise` is what any other error means for the call. */
export function toProviderError(
  error: unknown,
  where: string,
  otherwise: 'Ambiguous' | 'Retryable',
): ProviderError {
  if (error instanceof ProviderError) return error;
  const known = toDiskError(error, where);
  const message = messageOf(known);
  if (isMissingProgram(known)) {
    return new ProviderError('Terminal', message, { reason: 'AgentMissing', cause: error });
  }
  if (BUSY.includes(systemCodeOf(known) ?? '')) return new ProviderError('Quota', message, { cause: error });
  const code = known instanceof OsError ? CODES[String(known.code)] : undefined;
  return new ProviderError(code ?? otherwise, message, { cause: error });
}

function isMissingProgram(error: unknown): boolean {
  if (!(error instanceof OsError) || error.code !== 'Exited') return false;
  return ['ENOENT', 'EACCES', 'ENOEXEC'].includes(systemCode(error.cause) ?? '');
}

function systemCodeOf(error: unknown): string | undefined {
  return error instanceof OsError ? systemCode(error.cause) : systemCode(error);
}
