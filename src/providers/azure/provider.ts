/**
 * Provider azure: the machines are virtual machines of one resource group in one region. What exists is found by its name, which is made from
 * the UID of the Machine, and is ours by its tags.
 */
import { createCredentialSource } from '../cloud/credential-source.ts';
import { readEndpoint } from '../cloud/endpoint.ts';
import { type CloudProviderOptions, REQUEST_MS } from '../cloud/options.ts';
import { isMachineUid, throwIfRefused } from '../cloud/request.ts';
import type { Provider } from '../contract.ts';
import { createArmApi } from './api/client.ts';
import { checkAzure } from './check.ts';
import { AZURE } from './config.ts';
import { createAzureInstance } from './creation.ts';
import { tokenLoader } from './credentials/load.ts';
import { deleteInstance } from './deletion.ts';
import { listEvents } from './events.ts';
import { createAzureLookup } from './lookup.ts';
import type { AzureParts } from './parts.ts';
import { readPlace } from './place.ts';
import { switchAzurePower } from './power.ts';

const ENDPOINT = 'https://management.azure.com';

export function openAzureProvider(options: CloudProviderOptions): Provider {
  const { clock, env, agent, timeoutMs = REQUEST_MS } = options;
  const place = readPlace(env);
  const endpoint = readEndpoint(env, 'AZURE_RESOURCE_MANAGER_ENDPOINT', ENDPOINT);
  const tokens = createCredentialSource(tokenLoader(options, endpoint), clock);
  const api = createArmApi({ endpoint, tokens, clock, timeoutMs });
  const lookup = createAzureLookup(api, place);
  const parts: AzureParts = { api, lookup, place, clock, agent };
  return {
    ...AZURE,
    async create(request, signal) {
      signal.throwIfAborted();
      throwIfRefused(AZURE, request);
      return await createAzureInstance(request, parts, signal);
    },
    get: async (id, signal) => (await lookup.byId(id, signal))?.instance,
    async find(filter, signal) {
      signal.throwIfAborted();
      // The UID is part of a name in the request.
      const { machineUid } = filter;
      if (machineUid !== undefined && !isMachineUid(machineUid)) return [];
      return await lookup.byFilter(filter, signal);
    },
    delete: (id, signal) => deleteInstance(id, parts, signal),
    power: (id, action, signal) => switchAzurePower(id, action, parts, signal),
    events: (signal) => listEvents(parts, signal),
    check: (shape, signal) => checkAzure(shape, parts, signal),
  };
}
