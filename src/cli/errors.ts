/** Formats the error text of a command that fails, and decides its exit code. */
import { isKubeError, type KubeError, type KubeErrorCode } from '../kube/client/errors.ts';
import { textAt } from '../kube/objects/json.ts';
import { OsError } from '../os/errors.ts';

/** The exit codes. They are documented in docs/cli.md; scripts rely on them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /**
   * The result of `plan` and `install --dry-run` if there are changes, of `component outdated` if there are newer versions, of
   * `mirror sync --dry-run` if artifacts are missing, and of `status` if the commit is not everywhere yet.
   */
  changes: 2,
  /** The result of `report` if Prometheus does not have all of it, and of `why machine` if the person may not read all of it. */
  incomplete: 2,
  /** The result of `plan` if at least one unit would be held, and of `defender ask` if it is denied. */
  held: 3,
  /** The result of `status` if machines or objects are unhealthy, or something endangers them. */
  unhealthy: 3,
  usage: 64,
  /** A file or an object is invalid. */
  badInput: 65,
  /** A server, a port or a program is not available. */
  unavailable: 69,
  /** Credentials are missing or expired, or permissions are insufficient. */
  denied: 77,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CliErrorDetails {
  /** The file, object, server or flag. */
  readonly where?: string;
  /** The hint about what to do, as an imperative. */
  readonly hint?: string;
  readonly exitCode?: ExitCode;
  readonly cause?: unknown;
}

export class CliError extends Error {
  override readonly name = 'CliError';
  readonly where: string | undefined;
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;

  constructor(what: string, details: CliErrorDetails = {}) {
    super(what, { cause: details.cause });
    this.where = details.where;
    this.hint = details.hint;
    this.exitCode = details.exitCode ?? EXIT.failed;
  }
}

/**
 * Returns the text for people, without a stack: `error: what`, `where:` and `hint:`, a line each. `unreachableHint` is the hint for when
 * the API server cannot be reached, if more is known about it.
 */
export function describeError(
  error: unknown,
  unreachableHint?: string,
): { readonly text: string; readonly exitCode: ExitCode } {
  if (error instanceof AggregateError && error.errors.length > 0) return describeAll(error, unreachableHint);
  if (isKubeError(error)) return describeKubeError(error, unreachableHint);
  const { message, where, hint } = partsOf(error);
  return {
    text: lines(message, where, hint),
    exitCode: exitCodeOf(error),
  };
}

const OS_ERRORS: ReadonlyMap<string, ExitCode> = new Map([
  ['BadInput', EXIT.badInput],
  ['PortInUse', EXIT.unavailable],
  ['NoAccess', EXIT.denied],
]);

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  return (error instanceof OsError && OS_ERRORS.get(String(error.code))) || EXIT.failed;
}

function describeAll(
  error: AggregateError,
  unreachableHint: string | undefined,
): { text: string; exitCode: ExitCode } {
  const parts = error.errors.map((each) => describeError(each, unreachableHint));
  const head = error.message ? [`error: ${error.message}`] : [];
  return {
    text: [...head, ...parts.map(({ text }) => text)].join('\n'),
    exitCode: parts[0]?.exitCode ?? EXIT.failed,
  };
}

interface Parts {
  readonly message: string;
  readonly where: string | undefined;
  readonly hint: string | undefined;
}

/** Reads the parts of an error. Errors of other modules may carry `where` and `hint` too, without importing this file. */
function partsOf(error: unknown): Parts {
  if (!(error instanceof Error)) return { message: String(error), where: undefined, hint: undefined };
  return { message: error.message, where: textAt(error, 'where'), hint: textAt(error, 'hint') };
}

function lines(what: string, where: string | undefined, hint: string | undefined): string {
  return [
    `error: ${what}`,
    ...(where ? [`  where: ${where}`] : []),
    ...(hint ? [`  hint: ${hint}`] : []),
  ].join('\n');
}

const KUBE_ERRORS: Record<KubeErrorCode, { readonly exitCode: ExitCode; readonly hint: string | undefined }> =
  {
    Unreachable: {
      exitCode: EXIT.unavailable,
      hint: 'check that the server is running and that --kubeconfig and --context select it',
    },
    Timeout: {
      exitCode: EXIT.unavailable,
      hint: 'retry; if it happens again, check the server and the network',
    },
    Aborted: { exitCode: EXIT.interrupted, hint: undefined },
    BadAnswer: {
      exitCode: EXIT.unavailable,
      hint: 'the server is probably not a Kubernetes API server: check the URL in the kubeconfig',
    },
    Unauthorized: {
      exitCode: EXIT.denied,
      hint: 'log in again, or renew the certificate or token in the kubeconfig',
    },
    Forbidden: {
      exitCode: EXIT.denied,
      hint: 'request the permission, or use a context whose user has it (kubectl auth can-i --list)',
    },
    NotFound: { exitCode: EXIT.failed, hint: undefined },
    AlreadyExists: { exitCode: EXIT.failed, hint: undefined },
    Conflict: {
      exitCode: EXIT.failed,
      hint: 'the object changed, or another field manager owns a field: review the object, then run the command again',
    },
    Gone: { exitCode: EXIT.failed, hint: 'run the command again' },
    Invalid: { exitCode: EXIT.badInput, hint: 'fix the field, then run the command again' },
    TooManyRequests: { exitCode: EXIT.unavailable, hint: 'the server is busy: run the command again later' },
    ServerError: {
      exitCode: EXIT.unavailable,
      hint: 'check the log of the API server, then run the command again',
    },
    Credentials: {
      exitCode: EXIT.denied,
      hint: 'check the files and programs that the kubeconfig refers to',
    },
    Config: { exitCode: EXIT.badInput, hint: 'check the kubeconfig (kubectl config view)' },
  };

function describeKubeError(
  error: KubeError,
  unreachableHint: string | undefined,
): { text: string; exitCode: ExitCode } {
  const { exitCode, hint } = KUBE_ERRORS[error.code];
  const known = error.code === 'Unreachable' ? unreachableHint : undefined;
  return { text: lines(error.message, undefined, known ?? hint), exitCode };
}
