/** What a command says when it fails, and the code that it ends with. */

import { isKubeError, type KubeError, type KubeErrorCode } from '../kube/client/errors.ts';
import { textAt } from '../kube/objects/json.ts';

/** Documented in docs/cli.md; scripts rely on them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** `plan`, `install --dry-run`: there is something to do. */
  changes: 2,
  /** `plan`: it would be held. */
  held: 3,
  usage: 64,
  /** A file or an object that is wrong in itself. */
  badInput: 65,
  /** A server, a port or a program that is not there. */
  unavailable: 69,
  /** Credentials are missing, expired or not enough. */
  denied: 77,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CliErrorDetails {
  /** The file, object, server or flag. */
  readonly where?: string;
  /** What to do now. */
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

/** The text for people, without a stack: `error: what`, where, and the way out, a line each. */
export function describeError(error: unknown): { readonly text: string; readonly exitCode: ExitCode } {
  if (error instanceof AggregateError && error.errors.length > 0) return describeAll(error);
  if (isKubeError(error)) return describeKubeError(error);
  const { message, where, hint } = partsOf(error);
  return {
    text: lines(message, where, hint),
    exitCode: error instanceof CliError ? error.exitCode : EXIT.failed,
  };
}

function describeAll(error: AggregateError): { text: string; exitCode: ExitCode } {
  const parts = error.errors.map(describeError);
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

/** Errors of other parts may carry `where` and `hint` too, without knowing this file. */
function partsOf(error: unknown): Parts {
  if (!(error instanceof Error)) return { message: String(error), where: undefined, hint: undefined };
  return { message: error.message, where: textAt(error, 'where'), hint: textAt(error, 'hint') };
}

function lines(what: string, where: string | undefined, hint: string | undefined): string {
  return [
    `error: ${what}`,
    ...(where ? [`  where: ${where}`] : []),
    ...(hint ? [`  what to do: ${hint}`] : []),
  ].join('\n');
}

const KUBE_WAYS: Record<KubeErrorCode, { readonly exitCode: ExitCode; readonly hint: string | undefined }> = {
  Unreachable: {
    exitCode: EXIT.unavailable,
    hint: 'check that the server runs and that --kubeconfig and --context name it',
  },
  Timeout: {
    exitCode: EXIT.unavailable,
    hint: 'try again; if it stays, check the server and the network between',
  },
  Aborted: { exitCode: EXIT.interrupted, hint: undefined },
  BadAnswer: {
    exitCode: EXIT.unavailable,
    hint: 'this does not look like a Kubernetes API server: check the URL in the kubeconfig',
  },
  Unauthorized: {
    exitCode: EXIT.denied,
    hint: 'log in again, or renew the certificate or token in the kubeconfig',
  },
  Forbidden: {
    exitCode: EXIT.denied,
    hint: 'ask for the right, or use a context whose user has it (kubectl auth can-i --list)',
  },
  NotFound: { exitCode: EXIT.failed, hint: undefined },
  AlreadyExists: { exitCode: EXIT.failed, hint: undefined },
  Conflict: {
    exitCode: EXIT.failed,
    hint: 'somebody else changed it: look at it again, then repeat the command',
  },
  Gone: { exitCode: EXIT.failed, hint: 'repeat the command' },
  Invalid: { exitCode: EXIT.badInput, hint: 'mend the field that is named, then repeat the command' },
  TooManyRequests: { exitCode: EXIT.unavailable, hint: 'the server is busy: repeat the command later' },
  ServerError: {
    exitCode: EXIT.unavailable,
    hint: 'look at the log of the API server, then repeat the command',
  },
  Credentials: { exitCode: EXIT.denied, hint: 'check the files and programs that the kubeconfig names' },
  Config: { exitCode: EXIT.badInput, hint: 'check the kubeconfig (kubectl config view)' },
};

function describeKubeError(error: KubeError): { text: string; exitCode: ExitCode } {
  const { exitCode, hint } = KUBE_WAYS[error.code];
  return { text: lines(error.message, undefined, hint), exitCode };
}
