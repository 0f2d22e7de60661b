/** The machines of a set as they are in the API server, with their grants. */
import { DEFENDER_LEDGERS, MACHINES } from '../../../api/generated/resources.ts';
import type { LedgerGrant, Machine } from '../../../api/generated/types.ts';
import { LABEL_MACHINESET, LEDGER } from '../../../api/names.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { SimulatedApi } from '../../api-server/simulated-api.ts';
import { SET } from '../set-people.ts';

export interface SetTruth {
  members(): readonly Machine[];
  /** Those that are not being deleted. */
  live(): readonly Machine[];
  machineOf(uid: string): Machine | undefined;
  /** For the deletion of the machine of that name. */
  grantOf(object: Pick<KubeObject, 'metadata'>): LedgerGrant | undefined;
  isGranted(object: Pick<KubeObject, 'metadata'>): boolean;
}

const DELETING: readonly string[] = ['DeleteMachine', 'ReplaceMachine'];

export function createSetTruth(api: Pick<SimulatedApi, 'get' | 'list'>): SetTruth {
  return {
    members,
    live: () => members().filter(isLive),
    machineOf: (uid) => api.list(MACHINES).find(({ metadata }) => metadata.uid === uid),
    grantOf,
    isGranted: (object) => {
      const grant = grantOf(object);
      return grant !== undefined && grant.state !== 'Settled';
    },
  };

  function members(): readonly Machine[] {
    return api.list(MACHINES).filter(({ metadata }) => metadata.labels?.[LABEL_MACHINESET] === SET);
  }

  function grantOf({ metadata }: Pick<KubeObject, 'metadata'>): LedgerGrant | undefined {
    const grant = api.get(DEFENDER_LEDGERS, LEDGER)?.spec.grants[metadata.name];
    return grant && DELETING.includes(grant.action) ? grant : undefined;
  }
}

export function isLive({ metadata }: Machine): boolean {
  return metadata.deletionTimestamp === undefined;
}
