/** Who calls, and what the caller may do: both are answers of the API server. */
import { createHash } from 'node:crypto';
import { GROUP } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isRecord, listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import type { Clock } from '../../os/clock.ts';
import { HttpProblem } from './problem.ts';

export interface Caller {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: unknown;
}

export interface ReviewOptions {
  readonly client: Pick<Client, 'create'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** A token must be issued for one of them. */
  readonly audiences: readonly string[];
}

export interface Reviews {
  /** Whether this token was reviewed a moment ago: then no request is sent. */
  isKnown(token: string): boolean;
  /** Rejects with Unauthorized when the API server does not accept the token. */
  authenticate(token: string): Promise<Caller>;
  /** Rejects with Forbidden. `resource` is a subresource that no server serves, such as `defenderledgers/grants`. */
  authorize(caller: Caller, resource: string): Promise<void>;
}

interface Reviewed {
  readonly caller: Promise<Caller>;
  readonly atMs: number;
}

/** A token that was revoked is accepted for this long. Permissions are never kept. */
const KEPT_MS = 10_000;
const MAX_KEPT = 1000;
const TIMEOUT_MS = 5000;
/** So that a flood of tokens from many addresses takes no more of the API server. */
const MAX_AT_ONCE = 20;
const TOKEN_REVIEWS = review('authentication.k8s.io', 'TokenReview', 'tokenreviews');
const ACCESS_REVIEWS = review('authorization.k8s.io', 'SubjectAccessReview', 'subjectaccessreviews');

export function createReviews({ client, clock, audiences }: ReviewOptions): Reviews {
  const kept = new Map<string, Reviewed>();
  let underReview = 0;
  return {
    isKnown: (token) => found(keyOf(token)) !== undefined,
    authenticate: (token) => {
      const key = keyOf(token);
      const known = found(key);
      if (known) return known.caller;
      if (underReview >= MAX_AT_ONCE) return Promise.reject(tooMany());
      const caller = reviewToken(token);
      keep(key, caller);
      return caller;
    },
    authorize,
  };

  function found(key: string): Reviewed | undefined {
    const known = kept.get(key);
    return known && clock.monotonicMs() - known.atMs < KEPT_MS ? known : undefined;
  }

  function keep(key: string, caller: Promise<Caller>): void {
    kept.delete(key);
    kept.set(key, { caller, atMs: clock.monotonicMs() });
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    underReview += 1;
    const ended = (): void => {
      underReview -= 1;
    };
    caller.then(ended, (error: unknown) => {
      ended();
      // A server that did not answer has refused nothing: ask it again.
      if (!(error instanceof HttpProblem) && kept.get(key)?.caller === caller) kept.delete(key);
    });
  }

  async function reviewToken(token: string): Promise<Caller> {
    const answer = await send(TOKEN_REVIEWS, { token, audiences });
    const accepted = listAt(answer, 'status', 'audiences').some((each) => audiences.includes(String(each)));
    const name = textAt(answer, 'status', 'user', 'username') ?? '';
    if (valueAt(answer, 'status', 'authenticated') !== true || !accepted || name === '') {
      throw new HttpProblem(
        'Unauthorized',
        `the API server does not accept this token for the audience ${audiences.join(' or ')}`,
      );
    }
    const uid = textAt(answer, 'status', 'user', 'uid');
    const extra = valueAt(answer, 'status', 'user', 'extra');
    const groups = listAt(answer, 'status', 'user', 'groups').filter((group) => typeof group === 'string');
    return { name, groups, ...(uid ? { uid } : {}), ...(isRecord(extra) ? { extra } : {}) };
  }

  async function authorize({ name, uid, groups, extra }: Caller, resource: string): Promise<void> {
    const [plural = '', subresource = ''] = resource.split('/');
    const answer = await send(ACCESS_REVIEWS, {
      user: name,
      groups,
      ...(uid ? { uid } : {}),
      ...(extra ? { extra } : {}),
      resourceAttributes: { group: GROUP, resource: plural, subresource, verb: 'create' },
    });
    const isAllowed = valueAt(answer, 'status', 'allowed') === true;
    if (isAllowed && valueAt(answer, 'status', 'denied') !== true) return;
    throw new HttpProblem('Forbidden', `${name} does not have the permission to create ${resource}.${GROUP}`);
  }

  async function send(resource: Resource, spec: object): Promise<unknown> {
    const { group, version, kind } = resource;
    const object = { apiVersion: `${group}/${version}`, kind, metadata: {}, spec };
    return await client.create(resource, object as unknown as KubeObject, { timeoutMs: TIMEOUT_MS });
  }
}

function tooMany(): HttpProblem {
  return new HttpProblem('Busy', `${MAX_AT_ONCE} tokens are being reviewed`, { retryAfterSeconds: 1 });
}

/** Tokens themselves are not kept. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

function review(group: string, kind: string, plural: string): Resource {
  return { group, version: 'v1', kind, plural, namespaced: false };
}
