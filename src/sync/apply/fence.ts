/** The right to write, checked right before each write: a sync that lost its Lease, or its way, sends nothing more. */
import type { Client } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/client/errors.ts';

/** Why nothing may be written now, or nothing. */
export type Objection = () => string | undefined;

export function fenced(client: Client, objection: Objection): Client {
  function check(): void {
    const because = objection();
    if (because !== undefined) throw new KubeError('Aborted', `not written to ${client.server}: ${because}`);
  }
  return {
    ...client,
    apply: async (...args) => {
      check();
      return client.apply(...args);
    },
    create: async (...args) => {
      check();
      return client.create(...args);
    },
    replace: async (...args) => {
      check();
      return client.replace(...args);
    },
    patch: async (...args) => {
      check();
      return client.patch(...args);
    },
    delete: async (...args) => {
      check();
      return client.delete(...args);
    },
  };
}
