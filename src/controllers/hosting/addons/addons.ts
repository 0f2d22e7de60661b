/** Reads and changes the add-ons of hosted clusters, with the kubeconfig of their administrator. */
import type { HostedAddon } from '../../../api/generated/types.ts';
import type { Client } from '../../../kube/client/client.ts';
import { digestOf } from '../../../kube/objects/digest.ts';
import type { Clock } from '../../../os/clock.ts';
import { setNewest } from '../../../os/newest.ts';
import { withClient } from '../inside/client.ts';
import { areAsDeclared, isDeclared } from './declared.ts';
import { applyAddon, removeAddon } from './execute/apply.ts';
import { observeAddons } from './observe.ts';
import type { AddonsReport, AddonTarget, ClusterAddons } from './report.ts';
import { createAddonSource } from './source.ts';

/** A comparison reads every object. What a person changed is written back within this time. */
const COMPARE_MS = 60_000;
/** Ten seconds for each of ten objects. Without a limit, a server that hangs would hold the other control planes. */
const CALLS_MS = 100_000;
/** The oldest reports are forgotten when there are more, such as those of control planes that were deleted. */
const MAX_KEPT = 1000;

interface KeptReport {
  readonly digest: string;
  readonly atMs: number;
  readonly report: AddonsReport;
}

export function createClusterAddons(clock: Clock): ClusterAddons {
  const source = createAddonSource(clock);
  const reports = new Map<string, KeptReport>();
  return {
    async read(target) {
      const { owner, declared } = target;
      const { uid } = owner;
      const digest = digestOf(declared);
      const kept = reports.get(uid);
      if (kept && kept.digest === digest && clock.monotonicMs() - kept.atMs < COMPARE_MS) return kept.report;
      reports.delete(uid);
      const report = await callAddons(target, clock, (client, signal) =>
        observeAddons({ declared, client, source, signal }),
      );
      if (isSettled(report, declared)) {
        setNewest(reports, uid, { digest, atMs: clock.monotonicMs(), report }, MAX_KEPT);
      }
      return report;
    },
    async apply(target, addon) {
      reports.delete(target.owner.uid);
      const objects = await source.objects(addon, target.signal);
      await callAddons(target, clock, (client, signal) =>
        applyAddon(addon, objects, {
          client,
          clock,
          signal,
          isDeclared: (name) => isDeclared(target.declared, name),
        }),
      );
    },
    async remove(target, name) {
      reports.delete(target.owner.uid);
      await callAddons(target, clock, (client, signal) => removeAddon(client, name, signal));
    },
  };
}

/** Tells whether the report holds for a while. Otherwise it is read again at each reconcile; without nodes no pod serves. */
function isSettled(report: AddonsReport, declared: readonly HostedAddon[]): boolean {
  const isDone = report.installed.every(
    ({ begun, applied, drifted, unready }) =>
      applied === begun && drifted.length === 0 && (unready.length === 0 || !report.hasNodes),
  );
  return isDone && areAsDeclared(report, declared);
}

function callAddons<T>(
  { kubeconfig, signal }: AddonTarget,
  clock: Clock,
  work: (client: Client, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(CALLS_MS)]);
  return withClient(kubeconfig, clock, (client) => work(client, within));
}
