/** Reads the lines of the past for the console, from the Prometheus of `--prometheus-url`. */
import { createPast, type ReadPast } from '../../../console/server/past.ts';
import { HISTORY_FIELDS } from '../../../console/state/history/lines.ts';
import { readPastLines } from '../../../observability/history/read.ts';
import { createPrometheus } from '../../../observability/query/client.ts';
import { httpGet } from '../../../os/net/http-get.ts';
import type { Io } from '../../io.ts';
import type { ConsoleFlags } from './flags.ts';

/** A person waits for the page, which shows the other lines. */
const TIMEOUT_MS = 5000;
/** A line of 120 points is 3 KB. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Undefined: no Prometheus is set, and the console shows what it remembers. */
export function openPast(
  { clock }: Pick<Io, 'clock'>,
  { prometheusUrl, prometheusCluster }: Pick<ConsoleFlags, 'prometheusUrl' | 'prometheusCluster'>,
): ReadPast | undefined {
  if (prometheusUrl === undefined) return undefined;
  const prometheus = createPrometheus({
    clock,
    prometheusUrl,
    timeoutMs: TIMEOUT_MS,
    get: (url, signal) => httpGet(url, signal, MAX_ANSWER_BYTES),
  });
  return createPast({
    clock,
    read: async (range) =>
      await readPastLines(
        { prometheus, clock },
        { fields: HISTORY_FIELDS, range, cluster: prometheusCluster },
      ),
  });
}
