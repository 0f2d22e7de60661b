/** What a test and a host in a node say to each other, over the channel of child_process. */

/** A method of the host, such as `files.write`. */
export interface HostCall {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type HostAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: RemoteError }
  /** A watched path changed. */
  | { readonly watch: number; readonly path: string }
  | { readonly ready: true };

export interface RemoteError {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

/** Begins a watch, with its number and its paths; ends it. */
export const WATCH = 'watch';
export const UNWATCH = 'unwatch';
