/** Repair jobs on a real API server with every policy, with the status that their controllers would write. */
import { REMEDY_OPERATION_JOBS } from '../../../src/api/generated/resources.ts';
import {
  MANAGER_REMEDYJOB,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
} from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { createGranter } from '../../support/granter.ts';
import { createRepairer, type Repairer } from '../../support/repairs.ts';
import type { InstalledServer } from '../api/installed-server.ts';

export interface RepairFixture {
  readonly repairer: Repairer;
  /** A job that restarts the kubelet of a machine, whose Node it creates. Resolves to its name. */
  readonly startRepair: (machine: string) => Promise<string>;
  /** As the controller of jobs writes it. */
  readonly reportRepair: (name: string, status: object) => Promise<void>;
}

export async function createRepairFixture(installed: InstalledServer): Promise<RepairFixture> {
  const { client } = installed.server;
  const signIn = (principal: string): Promise<Client> => {
    const { user, groups } = createPrincipal(principal);
    return installed.as(user, groups);
  };
  const defender = await signIn(PRINCIPAL_DEFENDER);
  const componentset = await signIn(PRINCIPAL_COMPONENTSET);
  const remedy = await signIn(PRINCIPAL_REMEDY);
  const remedyjob = await signIn(PRINCIPAL_REMEDYJOB);
  const clock = createSystemClock();
  const granter = createGranter({ defender, componentset, clock });
  const repairer = createRepairer({ granter, defender, remedy, remedyjob, clock });
  return {
    repairer,
    async startRepair(machine) {
      await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: machine } });
      const body = { status: { nodeInfo: { bootID: 'boot-1' } } };
      await client.patch(NODES, { name: machine }, { type: 'merge', body }, { subresource: 'status' });
      return await repairer.release({ machine, step: 'RestartService', with: { service: 'kubelet' } });
    },
    async reportRepair(name, status) {
      const object = {
        apiVersion: API_VERSION,
        kind: 'RemedyOperationJob',
        metadata: { name },
        status: { conditions: [], ...status },
      };
      const options = { fieldManager: MANAGER_REMEDYJOB, force: true, subresource: 'status' };
      await remedyjob.apply(REMEDY_OPERATION_JOBS, object, options);
    },
  };
}
