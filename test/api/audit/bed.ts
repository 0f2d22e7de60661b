/** An API server in memory with ConfigMaps, for tests of the audit record. */

import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { createMemoryApi, type MemoryApi } from '../../support/controller/memory-api.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

export function auditApi(clock: VirtualClock = virtualClock()): MemoryApi {
  return createMemoryApi({ clock, kinds: [{ resource: CONFIG_MAPS }] });
}
