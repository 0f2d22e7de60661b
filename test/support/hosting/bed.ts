/** A bed for the controller of hosted control planes, with a driver in memory. */
import { CLUSTERS, DEFENDER_LEDGERS, DEFENDER_POLICIES } from '../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../src/api/generated/types.ts';
import { kubeconfigSecret } from '../../../src/api/names.ts';
import { createHostingController } from '../../../src/controllers/hosting/controller.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { type ControllerBed, createControllerBed } from '../controller/bed.ts';
import { ledgerOf, type MemoryGrants, memoryGrants } from '../memory-grants.ts';
import { type MemoryHosting, memoryHosting } from './memory/driver.ts';
import { type HostedParts, hostedCluster } from './objects.ts';

export const KINDS = [CLUSTERS, SECRETS, DEFENDER_POLICIES, DEFENDER_LEDGERS].map(servedKind);

/** As a person applies it: without what the API server sets. */
export function applied(parts: HostedParts = {}): KubeObject {
  const { metadata, ...rest } = hostedCluster(parts);
  return { ...rest, metadata: { name: metadata.name } };
}

export interface HostingBed extends ControllerBed {
  readonly hosting: () => MemoryHosting;
  readonly grants: MemoryGrants;
}

/** The control planes outlive the process of the controller, so each bed has them once. */
export function hostingBed(objects: readonly KubeObject[], maxClusters = 20): HostingBed {
  let opened: MemoryHosting | undefined;
  const hosting = (): MemoryHosting => {
    opened ??= memoryHosting(() => bed.clock.now());
    return opened;
  };
  const grants = memoryGrants({ now: () => bed.clock.now() });
  const bed: ControllerBed = createControllerBed({
    controllers: () => [
      createHostingController({ ...hosting(), grants, maxClusters, maxAgeSeconds: 691_200 }),
    ],
    kinds: KINDS,
    objects,
  });
  grants.changed = (ledger) => bed.apply(ledgerOf(ledger));
  return { ...bed, hosting, grants };
}

export function found(bed: ControllerBed, name = 'ci'): Cluster | undefined {
  return bed.get<Cluster>(CLUSTERS, name);
}

export function conditionText(bed: ControllerBed, type: string, name = 'ci'): string {
  const condition = conditionOf(found(bed, name)?.status?.conditions, type);
  return `${condition?.status} ${condition?.reason}`;
}

export function secretOf(bed: ControllerBed, name = 'ci'): KubeObject | undefined {
  const stored = bed.api.objects.list(servedKind(SECRETS));
  return stored.find(({ metadata }) => metadata.name === kubeconfigSecret(name));
}
