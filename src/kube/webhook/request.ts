/** Defines what a webhook server hands to the intake that judges its requests, and what the intake answers. */
import type { HookHeaders } from './signature.ts';

export interface HookRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: HookHeaders;
  /** Undefined: it is larger than permitted, or was not sent whole. Rejects when too many are read at a time: the server answers that. */
  readonly readBody: () => Promise<Buffer | undefined>;
}

export interface HookAnswer {
  readonly status: number;
  /** A sentence for the person who looks at the deliveries of the sender. */
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly result: HookResult;
}

/** The results of requests, as the metric counts them. */
export const HOOK_RESULTS = [
  'Accepted',
  'Ignored',
  'Repeated',
  'Refused',
  'Unknown',
  'Limited',
  'Invalid',
  'Unavailable',
] as const;
export type HookResult = (typeof HOOK_RESULTS)[number];

export interface HookIntake {
  handle(request: HookRequest): Promise<HookAnswer>;
}
