/** The kinds of an API server in memory that the machine controller reads, with those of its drains. */
import { DEFENDER_LEDGERS, MACHINES } from '../../../src/api/generated/resources.ts';
import { CERTIFICATE_REQUESTS } from '../../../src/kube/auth/certificate-requests.ts';
import { BUDGETS } from '../../../src/kube/drain/budgets.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { type ServedKind, servedKind } from '../../../src/sim/api-server/kinds.ts';

export const MACHINE_KINDS: readonly ServedKind[] = [
  servedKind(MACHINES),
  servedKind(NODES),
  { resource: DEFENDER_LEDGERS },
  { resource: CERTIFICATE_REQUESTS },
  { resource: PODS, status: true },
  { resource: BUDGETS },
];
