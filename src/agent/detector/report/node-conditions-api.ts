/** Conditions and Events of the own Node at the API server. */
import { MANAGER_AGENT } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { NodeWithConditions } from './writers.ts';

export interface WrittenCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastHeartbeatTime: string;
  readonly lastTransitionTime: string;
}

export interface NodeConditionsApi {
  /** Undefined while the Node is missing. */
  node(): Promise<NodeWithConditions | undefined>;
  /** Exactly these: conditions of an earlier call that are not in the list are removed. */
  write(conditions: readonly WrittenCondition[], options: { readonly force: boolean }): Promise<void>;
}

export function createNodeConditionsApi(
  client: Pick<Client, 'get' | 'apply'>,
  name: string,
): NodeConditionsApi {
  return {
    async node() {
      try {
        return await client.get<NodeWithConditions>(NODES, { name });
      } catch (error) {
        if (isKubeError(error, 'NotFound')) return undefined;
        throw error;
      }
    },
    async write(conditions, { force }) {
      const object = { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions } };
      await client.apply(NODES, object, { fieldManager: MANAGER_AGENT, force, subresource: 'status' });
    },
  };
}
