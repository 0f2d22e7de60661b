/** Reads from the body of a webhook whether it concerns a Pipeline: the ref was pushed, or a pull request changed. Pure. */
import { isRecord } from '../../kube/objects/json.ts';
import { type HookHeaders, textOf } from '../../kube/webhook/signature.ts';

export interface HookInterest {
  readonly ref: string;
  /** Whether pull requests are planned. */
  readonly pulls: boolean;
}

/** Returns why the request does not concern the Pipeline; undefined: it does, or the request does not tell. */
export function ignoredPushReason(
  headers: HookHeaders,
  body: Buffer,
  { ref, pulls }: HookInterest,
): string | undefined {
  const event = EVENT_HEADERS.map((name) => textOf(headers, name)).find((text) => text !== '');
  if (event !== undefined && pulls && PULL_EVENTS.includes(event)) return undefined;
  if (event !== undefined && !PUSH_EVENTS.includes(event)) return cut(`event ${event} is not a push`);
  return otherRefReason(parse(payloadOf(headers, body)), ref);
}

function otherRefReason(payload: unknown, ref: string): string | undefined {
  const pushed = isRecord(payload) ? payload['ref'] : undefined;
  // The branch that HEAD names is known only to the repository.
  if (typeof pushed !== 'string' || ref === 'HEAD') return undefined;
  if (pushed === ref || pushed === `refs/heads/${ref}`) return undefined;
  return cut(`${pushed} was pushed, and the Pipeline follows ${ref}`);
}

/** The headers in which git hosts name the event. A sender without one knows no other event than a push. */
const EVENT_HEADERS = ['x-gitea-event', 'x-forgejo-event', 'x-github-event', 'x-gitlab-event'] as const;
/** The first is that of GitHub, Gitea and Forgejo; GitLab has one for a project and one for the whole host. */
const PUSH_EVENTS: readonly string[] = ['push', 'Push Hook', 'System Hook'];
/** The events of a pull request; comments on it are others. */
const PULL_EVENTS: readonly string[] = ['pull_request', 'Merge Request Hook'];
/** The text of a sender is shown to people. */
const MAX_TEXT = 200;

function cut(text: string): string {
  return text.slice(0, MAX_TEXT);
}

/** GitHub can send a form, too. */
function payloadOf(headers: HookHeaders, body: Buffer): string {
  const text = body.toString('utf8');
  const isForm = textOf(headers, 'content-type').startsWith('application/x-www-form-urlencoded');
  return isForm ? (new URLSearchParams(text).get('payload') ?? '') : text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
