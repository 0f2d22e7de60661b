/** Opens the providers of machines that the flags of `kubenode controllers` ask for. */
import { randomInt } from 'node:crypto';
import type { Command } from 'commander';
import { PROVIDERS, type ProviderName } from '../../../api/enums.ts';
import { createBootstrapToken } from '../../../controllers/bootstraptoken/execute.ts';
import { createCleanCheck } from '../../../controllers/machine/import/execute/clean-check.ts';
import type { ImportParts } from '../../../controllers/machine/import/execute/steps.ts';
import type { Bootstrap, InstanceParts } from '../../../controllers/machine/instance/calls.ts';
import { type LoadedConfig, loadConfig } from '../../../kube/auth/config.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { ConnectOptions } from '../../../kube/client/connect.ts';
import type { Clock } from '../../../os/clock.ts';
import { openProviders, type ProviderOptions } from '../../../providers/registry.ts';
import { readClusterUID } from '../../../sync/cluster-uid.ts';
import type { Io } from '../../io.ts';
import { formatBootstrapConfig } from '../../local/bootstrap-config.ts';
import { addCloudOptions, type CloudFlags, readCloudOptions } from './cloud-providers.ts';
import type { HostImportFlags } from './imports.ts';
import { addLocalMachinesOptions, type LocalMachinesFlags, readLocalOptions } from './local-machines.ts';

export interface ProviderFlags
  extends LocalMachinesFlags,
    CloudFlags,
    Pick<HostImportFlags, 'serverForHosts'> {}

/** Holds what the options of a provider may be made of. */
interface ProviderSource {
  /** Loads the address of the API server. */
  readonly server: () => Promise<string>;
  /** The client of kubenode-machine. */
  readonly client: Client;
  /** The port that imports hosts. Undefined: this process imports none. */
  readonly imports: ImportParts | undefined;
}

interface ProviderCommandOptions<Options> {
  readonly add: (command: Command) => Command;
  /** Resolves to none without the flags that ask for the provider. */
  readonly read: (io: Io, flags: ProviderFlags, source: ProviderSource) => Promise<Options | undefined>;
}

/** The options of each provider of src/providers/registry.ts. */
const COMMAND_OPTIONS: {
  readonly [Name in ProviderName]: ProviderCommandOptions<ProviderOptions[Name]>;
} = {
  local: {
    add: addLocalMachinesOptions,
    read: (io, flags, { server }) => readLocalOptions(io, flags, server),
  },
  // Its options are those of imports.
  ssh: { add: (command) => command, read: readPoolOptions },
  // All clouds share the flags that aws adds.
  alibaba: { add: (command) => command, read: async (io, flags) => readCloudOptions(io, flags, 'alibaba') },
  aws: { add: addCloudOptions, read: async (io, flags) => readCloudOptions(io, flags, 'aws') },
  azure: { add: (command) => command, read: async (io, flags) => readCloudOptions(io, flags, 'azure') },
};

export function addProviderOptions(command: Command): Command {
  return Object.values(COMMAND_OPTIONS).reduce((before, { add }) => add(before), command);
}

async function readPoolOptions(
  { clock }: Io,
  _flags: ProviderFlags,
  { client, imports }: ProviderSource,
): Promise<ProviderOptions['ssh'] | undefined> {
  return imports && { client, clock, verifyClean: createCleanCheck(imports) };
}

/** Opens the providers with a client of kubenode-machine. Resolves to none without the flags of one. */
export function instancesOpener(
  io: Io,
  flags: ProviderFlags,
  connection: ConnectOptions,
): (client: Client, imports: ImportParts | undefined) => Promise<InstanceParts | undefined> {
  return async (client, imports) => {
    const { clock, signal } = io;
    let loaded: Promise<LoadedConfig> | undefined;
    const load = (): Promise<LoadedConfig> => {
      loaded ??= loadConfig({ ...connection, clock });
      return loaded;
    };
    const server = async (): Promise<string> => (await load()).connection.server;
    const providers = await openProviders(await readProviderOptions(io, flags, { server, client, imports }));
    if (Object.keys(providers).length === 0) return undefined;
    return {
      providers,
      clusterUid: await readClusterUID(client, signal),
      createBootstrap: (machine) =>
        createBootstrap(machine, { client, load, clock, server: serverForHosts(flags) }),
    };
  };
}

async function readProviderOptions(
  io: Io,
  flags: ProviderFlags,
  source: ProviderSource,
): Promise<Partial<ProviderOptions>> {
  const read = PROVIDERS.map(
    async (name) => [name, await COMMAND_OPTIONS[name].read(io, flags, source)] as const,
  );
  return Object.fromEntries(await Promise.all(read));
}

interface BootstrapParts {
  readonly client: Client;
  readonly load: () => Promise<LoadedConfig>;
  readonly clock: Clock;
  /** The API server as the hosts reach it. Undefined: as this process does. */
  readonly server: string | undefined;
}

/** Hosts of a cloud may reach the API server at another address than this process; hosts of this machine never do. */
function serverForHosts({
  provider: clouds = [],
  serverForHosts: server,
}: ProviderFlags): string | undefined {
  return clouds.length === 0 ? undefined : server;
}

async function createBootstrap(
  machine: string,
  { client, load, clock, server }: BootstrapParts,
): Promise<Bootstrap> {
  const { connection } = await load();
  const { tls } = await connection.credentials.current();
  const options = { client, machine, now: clock.now(), randomInt: (below: number) => randomInt(below) };
  const { token, expiresAt } = await createBootstrapToken(options);
  const text = formatBootstrapConfig({ server: server ?? connection.server, ca: tls.ca, user: { token } });
  return { text, expiresAt: new Date(expiresAt) };
}
