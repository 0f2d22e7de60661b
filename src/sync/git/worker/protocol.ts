/** Defines the messages between a transport and its worker, which is our own program: its messages are trusted. */
import { systemCode } from '../../../os/errors.ts';
import { GitError, type GitErrorDetails, isGitError } from '../errors.ts';
import type { GitOptions } from '../options.ts';
import type { GitTransport } from '../transport.ts';

/** `listRefs` is cheap and happens with each poll: it needs no worker. `close` ends the worker. */
export type GitMethod = Exclude<keyof GitTransport, 'display' | 'listRefs' | 'close'>;

/** The token of a call, or why there is none. */
export type GitAccess = { readonly credential: string } | { readonly error: ErrorFields };

interface WorkerGitOptions extends Omit<GitOptions, 'tokens'> {
  /** Whether calls bring tokens. */
  readonly hasTokens: boolean;
}

export type GitRequest = { readonly open: WorkerGitOptions } | GitCall | { readonly abort: number };

export interface GitCall {
  readonly id: number;
  readonly method: GitMethod;
  readonly args: readonly unknown[];
  readonly access?: GitAccess;
}

export type GitAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: ErrorFields };

interface ErrorFields {
  readonly isGitError: boolean;
  readonly message: string;
  /** The code of a GitError, or of an error of the operating system. */
  readonly code: string | undefined;
  readonly cause: string | undefined;
  readonly path?: string | undefined;
  readonly details?: Omit<GitErrorDetails, 'cause'>;
}

export function fieldsOf(error: unknown): ErrorFields {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const common = { message, cause: cause instanceof Error ? cause.message : undefined };
  if (!isGitError(error)) {
    return {
      ...common,
      isGitError: false,
      code: systemCode(error),
      path: (error as NodeJS.ErrnoException).path,
    };
  }
  const { code, where, hint, retryAfterSeconds } = error;
  const details = { where, hint, retryAfterSeconds } as Omit<GitErrorDetails, 'cause'>;
  return { ...common, isGitError: true, code, details };
}

export function errorFrom({ message, code, isGitError: isOurs, path, cause, details }: ErrorFields): Error {
  const because = cause === undefined ? {} : { cause: new Error(cause) };
  if (isOurs) return new GitError(code as GitError['code'], message, { ...details, ...because });
  return Object.assign(new Error(message, because), { code, path });
}
