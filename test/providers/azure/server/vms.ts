/** Virtual machines in memory, with operations that take some polls. */
import { listAt, textAt, valueAt } from '../../../../src/kube/objects/json.ts';
import { REFUSALS } from './refusal.ts';

export interface Vm {
  readonly name: string;
  readonly body: object;
  readonly createdAt: Date;
  tags: Record<string, string>;
  provisioning: 'Creating' | 'Succeeded' | 'Failed' | 'Deleting' | 'Updating';
  power: 'starting' | 'running' | 'stopping' | 'stopped' | 'deallocated' | undefined;
  maintenance?: object;
}

const REQUIRED: readonly (readonly string[])[] = [
  ['location'],
  ['properties', 'hardwareProfile', 'vmSize'],
  ['properties', 'storageProfile', 'osDisk', 'createOption'],
  ['properties', 'osProfile', 'computerName'],
  ['properties', 'osProfile', 'adminUsername'],
  ['properties', 'networkProfile', 'networkApiVersion'],
];

export function checkVm(body: unknown): void {
  const missing = REQUIRED.find((path) => !textAt(body, ...path));
  if (missing) throw REFUSALS.invalid(missing.slice(1).join('.'));
  const keys = listAt(body, 'properties', 'osProfile', 'linuxConfiguration', 'ssh', 'publicKeys');
  if (keys.length === 0) throw REFUSALS.invalid('osProfile.linuxConfiguration.ssh.publicKeys');
  const subnet = interfaceValue(body, 'ipConfigurations', 0, 'properties', 'subnet', 'id');
  if (typeof subnet !== 'string') throw REFUSALS.invalid('networkInterfaceConfigurations');
}

/** Tells whether nothing of the virtual machine stays when it is deleted. */
export function isDeletedWhole({ body }: Vm): boolean {
  const disk = textAt(body, 'properties', 'storageProfile', 'osDisk', 'deleteOption');
  return disk === 'Delete' && interfaceValue(body, 'deleteOption') === 'Delete';
}

function interfaceValue(body: unknown, ...path: readonly (string | number)[]): unknown {
  return valueAt(
    body,
    'properties',
    'networkProfile',
    'networkInterfaceConfigurations',
    0,
    'properties',
    ...path,
  );
}

/** The form of the documented answer. What only a host may read is left out, as Azure does. */
export function formatVm(vm: Vm, group: string, withView: boolean): object {
  const { name, body, tags, createdAt, provisioning } = vm;
  const id = `${group}/providers/Microsoft.Compute/virtualMachines/${name}`;
  const size = textAt(body, 'properties', 'hardwareProfile', 'vmSize');
  return {
    name,
    id: id.replace('/resourceGroups/nodes/', '/resourceGroups/NODES/'),
    type: 'Microsoft.Compute/virtualMachines',
    location: textAt(body, 'location'),
    tags,
    ...('zones' in body ? { zones: body.zones } : {}),
    properties: {
      vmId: '0f47b100-583c-48e3-a4c0-aefc2c9bbcc1',
      hardwareProfile: { vmSize: size },
      osProfile: { computerName: textAt(body, 'properties', 'osProfile', 'computerName'), secrets: [] },
      networkProfile: {
        networkInterfaces: [
          { id: `${group}/providers/Microsoft.Network/networkInterfaces/${nicName(name)}`, properties: {} },
        ],
      },
      provisioningState: provisioning,
      timeCreated: createdAt.toISOString().replace('Z', '1234+00:00'),
      ...(withView ? { instanceView: viewOf(vm) } : {}),
    },
  };
}

export function nicName(vmName: string): string {
  return `${vmName}-nic-8ab2c1`;
}

function viewOf({ provisioning, power, maintenance }: Vm): object {
  const codes = [
    `ProvisioningState/${provisioning.toLowerCase()}`,
    ...(power === undefined ? [] : [`PowerState/${power}`]),
  ];
  return {
    statuses: codes.map((code) => ({ code, level: 'Info', displayStatus: code.split('/')[1] })),
    ...(maintenance ? { maintenanceRedeployStatus: maintenance } : {}),
  };
}
