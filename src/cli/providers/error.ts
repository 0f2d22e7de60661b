/** Explains the errors of providers, with the exit code that scripts expect. Pure. */
import { isProviderError, type ProviderErrorCode } from '../../providers/contract.ts';
import { CliError, EXIT, type ExitCode } from '../errors.ts';

const EXIT_CODES: Readonly<Record<ProviderErrorCode, ExitCode>> = {
  Retryable: EXIT.unavailable,
  Ambiguous: EXIT.unavailable,
  Quota: EXIT.unavailable,
  Auth: EXIT.denied,
  NotFound: EXIT.badInput,
  Terminal: EXIT.badInput,
};

/** Returns errors of other kinds unchanged. */
export function explainProviderError(where: string, error: unknown): unknown {
  if (!isProviderError(error)) return error;
  return new CliError(error.message, { where, exitCode: EXIT_CODES[error.code], cause: error });
}
