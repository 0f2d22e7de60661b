/** The hosts of pools, and who has which. Pure. */
import { LABEL_HOST_POOL } from '../../../api/names.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import {
  type ClaimState,
  parseClaim,
  unreadableClaim,
  unreadableText,
} from '../../../providers/ssh/pool/claim.ts';
import { hostKeyText } from '../../../providers/ssh/pool/host.ts';
import { readPool } from '../../../providers/ssh/pool/pool.ts';

export interface PoolRow {
  /** Absent: no pool lists the host any more. */
  readonly pool?: string;
  /** Address and port. */
  readonly host: string;
  readonly zone?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Unknown: somebody has the host, by a claim that cannot be read. */
  readonly state: 'Free' | 'Unknown' | Exclude<ClaimState, 'Deleted'>;
  readonly machine?: string;
  /** When the Machine got the host. */
  readonly since?: string;
}

export interface PoolRows {
  readonly hosts: readonly PoolRow[];
  readonly problems: readonly string[];
}

export function poolRows(pools: readonly KubeObject[], leases: readonly KubeObject[]): PoolRows {
  const claims = leases.flatMap((lease) => {
    const claim = parseClaim(lease);
    return claim?.host && claim.state !== 'Deleted'
      ? [{ ...claim, host: claim.host, state: claim.state }]
      : [];
  });
  const taken = new Map(claims.map((claim) => [hostKeyText(claim.host), claim]));
  const unreadable = leases.flatMap((lease) => unreadableClaim(lease) ?? []);
  const unknown = new Set(unreadable.map(({ host }) => host));
  const names = [...new Set(pools.flatMap(({ metadata }) => metadata.labels?.[LABEL_HOST_POOL] ?? []))];
  const read = names.toSorted(byCode).map((name) => ({ name, ...readPool(name, pools) }));
  const listed = read.flatMap(({ name, hosts }) => hosts.map((host) => ({ pool: name, host })));
  const keys = new Set(listed.map(({ host }) => hostKeyText(host)));
  const unlisted = claims.filter(({ host }) => !keys.has(hostKeyText(host))).map(({ host }) => ({ host }));
  const rows = [...listed, ...unlisted].map(({ host, ...pool }): PoolRow => {
    const claim = taken.get(hostKeyText(host));
    return {
      ...pool,
      host: hostKeyText(host),
      ...optional('zone', host.zone),
      labels: host.labels,
      state: unknown.has(hostKeyText(host)) ? 'Unknown' : (claim?.state ?? 'Free'),
      ...optional('machine', claim?.machine),
      ...optional('since', claim?.claimedAt.toISOString()),
    };
  });
  const problems = [...read.flatMap((each) => each.problems), ...unreadable.map(unreadableText)];
  return { hosts: rows, problems };
}
