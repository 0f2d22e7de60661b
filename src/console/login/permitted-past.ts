/**
 * Shows a person the lines of the past whose objects that person may list. Prometheus is asked with the rights of the console, and its numbers
 * are about all machines: the API server decides who gets them.
 */
import {
  CLUSTERS,
  DEFENDER_LEDGERS,
  MACHINE_COMPONENT_SETS,
  MACHINES,
  REMEDY_OPERATION_JOBS,
} from '../../api/generated/resources.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { Resource } from '../../kube/objects/object.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import { HISTORY_FIELDS, type HistoryField } from '../state/history/lines.ts';
import type { HistoryRange, MissingLine, PastAnswer } from '../state/history/ranges.ts';

export interface PermittedPastOptions {
  /** The client of the person. */
  readonly client: Pick<Client, 'list'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly read: (range: HistoryRange) => Promise<PastAnswer>;
}

/** Each line counts objects of one kind. */
const COUNTED: Readonly<Record<HistoryField, Resource>> = {
  ready: MACHINES,
  updated: MACHINE_COMPONENT_SETS,
  changing: MACHINES,
  trouble: MACHINES,
  repairs: REMEDY_OPERATION_JOBS,
  grants: DEFENDER_LEDGERS,
  contact: CLUSTERS,
};

/** As long as a watch of a person: a right that was taken away counts within a minute. */
const JUDGED_MS = 30_000;
/** A person waits for the page. All kinds are asked at once. */
const TIMEOUT_MS = 5000;

export function createPermittedPast({
  client,
  clock,
  read,
}: PermittedPastOptions): (range: HistoryRange) => Promise<PastAnswer> {
  const judged = new Map<
    string,
    { readonly untilMs: number; readonly reason: Promise<string | undefined> }
  >();

  return async (range) => {
    const judgedFields = await Promise.all(
      HISTORY_FIELDS.map(async (field) => [field, await refusal(COUNTED[field])] as const),
    );
    const reasons = judgedFields.flatMap(([field, reason]) =>
      reason === undefined ? [] : [[field, reason] as const],
    );
    return withoutLines(await read(range), new Map(reasons));
  };

  /** Returns why the person gets no line about this kind. */
  function refusal(resource: Resource): Promise<string | undefined> {
    const nowMs = clock.monotonicMs();
    const found = judged.get(resource.plural);
    if (found && found.untilMs > nowMs) return found.reason;
    const reason = askServer(resource);
    judged.set(resource.plural, { untilMs: nowMs + JUDGED_MS, reason });
    return reason;
  }

  async function askServer(resource: Resource): Promise<string | undefined> {
    const { kind, plural, group } = resource;
    try {
      await client.list(resource, { limit: 1, timeoutMs: TIMEOUT_MS });
      return undefined;
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return `you may not list ${plural}.${group}`;
      if (isKubeError(error, 'NotFound')) return `kind ${kind} is not installed in this cluster`;
      return `the API server does not answer whether you may list ${plural}.${group}: ${messageOf(error)}`;
    }
  }
}

function withoutLines(answer: PastAnswer, reasons: ReadonlyMap<HistoryField, string>): PastAnswer {
  const lines = Object.entries(answer.lines).filter(([field]) => !reasons.has(field as HistoryField));
  const refused: readonly MissingLine[] = [...reasons].map(([field, because]) => ({ field, because }));
  const missing = answer.missing.filter(({ field }) => !reasons.has(field));
  return { ...answer, lines: Object.fromEntries(lines), missing: [...missing, ...refused] };
}
