/** Decides which host of a pool a Machine takes. Pure. */
import { byCode, digestOf } from '../../../kube/objects/digest.ts';
import type { PoolSelector } from './config.ts';
import { hostKeyText, type PoolContent, type PooledHost } from './host.ts';

export interface PoolInput {
  readonly selector: PoolSelector;
  readonly pool: PoolContent;
  readonly machineUid: string;
  /** The names of the Machines that have a host, by the key of the host. */
  readonly holders: ReadonlyMap<string, string>;
}

export type HostChoice =
  | { readonly type: 'Take'; readonly host: PooledHost; readonly because: string }
  /** No host is free, and what is to be done. */
  | { readonly type: 'None'; readonly because: string };

const MAX_NAMES = 5;

export function chooseHost({ selector, pool, machineUid, holders }: PoolInput): HostChoice {
  const matching = pool.hosts.filter((host) => matches(host, selector));
  const free = matching.filter((host) => !holders.has(hostKeyText(host)));
  const host = free.toSorted((a, b) => byCode(rank(machineUid, a), rank(machineUid, b)))[0];
  if (host) return { type: 'Take', host, because: `${hostKeyText(host)} of pool ${selector.pool} is free` };
  return { type: 'None', because: `${reasonFor(selector, matching, holders)}${problemsOf(pool)}` };
}

/** Many Machines that choose at once each begin with another host. */
function rank(machineUid: string, host: PooledHost): string {
  return digestOf([machineUid, hostKeyText(host)]);
}

function matches(host: PooledHost, { labels, zone }: PoolSelector): boolean {
  if (zone !== undefined && host.zone !== zone) return false;
  return Object.entries(labels).every(([key, value]) => host.labels[key] === value);
}

function reasonFor(
  selector: PoolSelector,
  matching: readonly PooledHost[],
  holders: ReadonlyMap<string, string>,
): string {
  const { pool } = selector;
  if (matching.length === 0) {
    return `pool ${pool} has no host${selectorText(selector)}: add one to the ConfigMaps with the label kubenode.dev/host-pool=${pool}`;
  }
  const names = matching.flatMap((host) => holders.get(hostKeyText(host)) ?? []).toSorted(byCode);
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  const taken = `${names.slice(0, MAX_NAMES).join(', ')}${more}`;
  return `no host of pool ${pool}${selectorText(selector)} is free: ${matching.length} match, and belong to ${taken}. Add hosts to the pool, or lower replicas`;
}

function selectorText({ labels, zone }: PoolSelector): string {
  const terms = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const all = zone === undefined ? terms : [`zone ${zone}`, ...terms];
  return all.length === 0 ? '' : ` with ${all.join(', ')}`;
}

function problemsOf({ problems }: PoolContent): string {
  const [first, ...others] = problems;
  if (first === undefined) return '';
  return `. Not usable: ${first}${others.length > 0 ? ` and ${others.length} more` : ''}`;
}
