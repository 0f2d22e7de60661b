/** Reads virtual machines as Azure returns them, with their instance view. Pure. */
import { z } from 'zod';
import { ownValue } from '../../kube/objects/json.ts';
import { readTags } from '../cloud/tags.ts';
import { type Instance, ProviderError } from '../contract.ts';
import { type AzurePlace, formatAzureId, vmNameOf } from './place.ts';

const vm = z.object({
  name: z.string(),
  location: z.string(),
  tags: z.record(z.string(), z.string()).default({}),
  zones: z.array(z.string()).default([]),
  properties: z.object({
    provisioningState: z.string().default(''),
    timeCreated: z.string(),
    networkProfile: z
      .object({ networkInterfaces: z.array(z.object({ id: z.string() })).default([]) })
      .optional(),
    instanceView: z
      .object({
        statuses: z.array(z.object({ code: z.string() })).default([]),
        maintenanceRedeployStatus: z
          .object({
            maintenanceWindowStartTime: z.string().optional(),
            preMaintenanceWindowStartTime: z.string().optional(),
          })
          .optional(),
      })
      .optional(),
  }),
});

export type AzureVm = Readonly<z.infer<typeof vm>>;

const STATES: Readonly<Record<string, Instance['state']>> = {
  running: 'Running',
  starting: 'Pending',
  stopped: 'Stopped',
  deallocated: 'Stopped',
};
const POWER = 'PowerState/';

/** Throws for an entry that cannot be read: its instance is neither there nor missing. */
export function readVm(value: unknown): AzureVm {
  const { data } = vm.safeParse(value);
  if (data && !Number.isNaN(Date.parse(data.properties.timeCreated))) return data;
  throw new ProviderError('Retryable', 'a virtual machine in the answer of Azure cannot be read', {
    reason: 'BadAnswer',
  });
}

/** Returns the Machine of the virtual machine. Undefined: it does not have our tags, or has those of another one. */
export function readOwner({ name, tags }: AzureVm): Pick<Instance, 'machine' | 'tags'> | undefined {
  const ours = readTags(Object.entries(tags).map(([tag, value]) => ({ name: tag, value })));
  return ours && name.toLowerCase() === vmNameOf(ours.tags.machineUid) ? ours : undefined;
}

/** Undefined: it is not ours. */
export function readAzureInstance(
  found: AzureVm,
  addresses: Instance['addresses'],
  place: AzurePlace,
): Instance | undefined {
  const ours = readOwner(found);
  const [zone] = found.zones;
  return (
    ours && {
      ...ours,
      id: formatAzureId(place, vmNameOf(ours.tags.machineUid)),
      state: stateOf(found),
      ...(zone === undefined ? {} : { zone: `${found.location}-${zone}` }),
      addresses,
      createdAt: new Date(found.properties.timeCreated),
    }
  );
}

/** A host that is being stopped may still run: nothing may rely on the one or the other. */
export function stateOf({ properties }: AzureVm): Instance['state'] {
  const { provisioningState, instanceView } = properties;
  if (isDeleting({ properties })) return 'Unknown';
  const power = instanceView?.statuses.find(({ code }) => code.startsWith(POWER))?.code.slice(POWER.length);
  if (power !== undefined) return ownValue(STATES, power) ?? 'Unknown';
  return provisioningState === 'Creating' ? 'Pending' : 'Unknown';
}

export function isDeleting({ properties }: Pick<AzureVm, 'properties'>): boolean {
  return properties.provisioningState === 'Deleting';
}

/** Returns the network interface of the virtual machine. Undefined: it is not there yet. */
export function interfaceIdOf({ properties }: AzureVm): string | undefined {
  return properties.networkProfile?.networkInterfaces[0]?.id;
}
