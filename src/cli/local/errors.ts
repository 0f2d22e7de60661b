/** Exit codes of errors of the local machine. */
import { LocalError, type LocalErrorCode, toLocalError } from '../../local/errors.ts';
import { CliError, EXIT, type ExitCode } from '../errors.ts';

const EXIT_CODES: Record<LocalErrorCode, ExitCode> = {
  Unsupported: EXIT.unavailable,
  NoBinaries: EXIT.unavailable,
  Download: EXIT.unavailable,
  Checksum: EXIT.failed,
  Build: EXIT.failed,
  DiskFull: EXIT.failed,
  NoAccess: EXIT.denied,
  PortInUse: EXIT.unavailable,
  BadInput: EXIT.badInput,
  NotReady: EXIT.unavailable,
  NotStopped: EXIT.unavailable,
  Exited: EXIT.unavailable,
  CorruptState: EXIT.badInput,
  BadFolder: EXIT.badInput,
  InUse: EXIT.failed,
  NotFound: EXIT.badInput,
};

export async function withLocalErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw toCliError(error);
  }
}

function toCliError(error: unknown): unknown {
  if (error instanceof AggregateError) {
    return new AggregateError(error.errors.map(toCliError), error.message, { cause: error });
  }
  const local = toLocalError(error);
  if (!(local instanceof LocalError)) return error;
  const { where, hint } = local;
  return new CliError(local.message, {
    ...(where === undefined ? {} : { where }),
    ...(hint === undefined ? {} : { hint }),
    exitCode: EXIT_CODES[local.code],
    cause: error,
  });
}
