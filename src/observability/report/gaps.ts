/** Tells for which part of the period the processes were scraped: an increase over a gap is too small. Pure. */
import type { Answered, ReportSample } from './answer.ts';

/** The processes whose metrics are in the report. */
const PROCESSES = ['controllers', 'sync'];
/** A restart, and the edges of the period, are not gaps. */
const ENOUGH = 0.97;

/** `scraped`: the steps of the period in which each process had a sample. */
export function gapsIn(scraped: Answered<ReportSample>, steps: number): readonly string[] {
  if ('problem' in scraped) return [`whether the metrics have gaps: ${scraped.problem}`];
  return PROCESSES.flatMap((process) => {
    const found = scraped.found.find(({ labels }) => labels['process'] === process);
    if (!found) return [`kubenode ${process} was not scraped in this period`];
    const share = found.value / steps;
    if (share >= ENOUGH) return [];
    return [
      `kubenode ${process} was scraped in ${Math.round(share * 100)} % of this period: its counts are too small`,
    ];
  });
}
