/** A client whose writes the server carries out as another user. Reads stay those of the process. */

import type { Client } from '../client/client.ts';
import type { Impersonation } from './credentials.ts';

export function withWritesAs(client: Client, impersonate: Impersonation): Client {
  return {
    ...client,
    apply: (resource, object, options) => client.apply(resource, object, { ...options, impersonate }),
    create: (resource, object, options) => client.create(resource, object, { ...options, impersonate }),
    replace: (resource, object, options) => client.replace(resource, object, { ...options, impersonate }),
    patch: (resource, name, patch, options) =>
      client.patch(resource, name, patch, { ...options, impersonate }),
    delete: (resource, name, options) => client.delete(resource, name, { ...options, impersonate }),
  };
}
