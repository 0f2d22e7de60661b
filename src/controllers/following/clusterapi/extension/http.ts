/** Answers requests of Cluster API over HTTPS: which hook a path is, and how many are answered at a time. */

import { failureAnswer, type HookResponse } from './answers.ts';
import type { UpdateExtension } from './extension.ts';
import { hookAt } from './protocol.ts';

export interface ExtensionRequest {
  readonly method: string;
  readonly path: string;
  readonly readBody: () => Promise<string>;
}

export interface HookHttpAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ExtensionApi {
  handle(request: ExtensionRequest): Promise<HookHttpAnswer>;
}

/** A request has a Machine or two templates with their objects, each at most 1.5 MiB in etcd; most are a few KiB. */
export const MAX_HOOK_BYTES = 4 * 1024 * 1024;
/** Bodies that are in memory at a time. Cluster API calls for up to a hundred machines, and repeats what is refused. */
const MAX_IN_FLIGHT = 32;

export function createExtensionApi(extension: UpdateExtension): ExtensionApi {
  let inFlight = 0;
  return {
    async handle({ method, path, readBody }) {
      const hook = hookAt(path);
      if (!hook) return { status: 404, body: { message: `no hook of kubenode is at ${path}` } };
      if (method !== 'POST') return NO_POST;
      if (inFlight >= MAX_IN_FLIGHT) return BUSY;
      inFlight += 1;
      try {
        const body = parse(await readBody());
        return { status: 200, body: body === undefined ? invalid(hook) : await extension.answer(hook, body) };
      } finally {
        inFlight -= 1;
      }
    },
  };
}

const NO_POST: HookHttpAnswer = {
  status: 405,
  body: { message: 'expected POST' },
  headers: { allow: 'POST' },
};

const BUSY: HookHttpAnswer = {
  status: 429,
  body: { message: `too many requests: at most ${MAX_IN_FLIGHT} at a time` },
  headers: { 'retry-after': '1' },
};

function invalid(hook: NonNullable<ReturnType<typeof hookAt>>): HookResponse {
  return failureAnswer(hook, 'expected a body of JSON');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
