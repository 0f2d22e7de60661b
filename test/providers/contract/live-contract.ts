/** The contract of a provider on its real cloud. Hosts are counted by what the cloud lists, and everything is deleted by its tags. */
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { formatAzureId, readPlace, vmNameOf } from '../../../src/providers/azure/place.ts';
import {
  type Instance,
  type InstanceFilter,
  isProviderError,
  type Provider,
} from '../../../src/providers/contract.ts';
import { PROVIDER_REGISTRY } from '../../../src/providers/registry.ts';
import {
  CLUSTER,
  type ContractHarness,
  type ContractProvider,
  NEVER,
  noFaults,
  OTHER_CLUSTER,
} from './harness.ts';
import { type LiveSettings, shapeOf } from './live-settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

const NO_FAULTS = 'nothing is between kubenode and a real cloud that could bring it about';
/** The longest that a cloud takes to delete what a case created. */
const CLEAN_UP_MS = 900_000;
const POLL_MS = 5000;

export function liveContract(settings: LiveSettings, env: Env): ContractProvider {
  const { provider, shapes } = settings;
  const accepted = Object.entries(shapes).map(
    ([title, each]) =>
      [`${title} on the real cloud`, { ...shapeOf(each), host: 'systemd' as const }] as const,
  );
  return {
    entry: PROVIDER_REGISTRY[provider],
    accepted: Object.fromEntries(accepted),
    everyShape: 'a person runs it, and chose the shapes',
    // The same on every cloud, and tested without one.
    refused: {},
    failures: [],
    withoutFailures: NO_FAULTS,
    withoutFaults: noFaults(NO_FAULTS),
    withoutAccount: NO_FAULTS,
    async prepare() {
      // What a run that was killed left behind.
      await removeAll(await openLive(settings, env));
      return async () => removeAll(await openLive(settings, env));
    },
    open: () => openLiveHarness(settings, env),
  };
}

async function openLive({ provider, agent }: LiveSettings, env: Env): Promise<Provider> {
  return await PROVIDER_REGISTRY[provider].open({ clock: createSystemClock(), env, agent });
}

async function openLiveHarness(settings: LiveSettings, env: Env): Promise<ContractHarness> {
  const provider = await openLive(settings, env);
  const ids = idsOf(settings, env);
  return {
    provider,
    reopen: () => openLive(settings, env),
    countHosts: async (uid) => (await hostsOf(provider, uid)).length,
    // A cloud has no other way to end a host from outside.
    async crash(uid) {
      const hosts = await hostsOf(provider, uid);
      await Promise.all(hosts.map(({ id }) => provider.power(id, 'off', NEVER)));
    },
    visibleTexts: async () => [JSON.stringify(await listAll(provider))],
    fail: () => Promise.reject(new Error(NO_FAULTS)),
    inject: () => Promise.reject(new Error(NO_FAULTS)),
    ...ids,
    [Symbol.asyncDispose]: () => removeAll(provider),
  };
}

/** A list of several instances may not have their states. */
async function hostsOf(provider: Provider, machineUid: string): Promise<readonly Instance[]> {
  return (await listAll(provider, { machineUid })).filter(({ state }) => state !== 'Stopped');
}

async function listAll(
  provider: Provider,
  filter: Partial<InstanceFilter> = {},
): Promise<readonly Instance[]> {
  const clusters = [CLUSTER, OTHER_CLUSTER].map((clusterUid) =>
    provider.find({ ...filter, clusterUid }, NEVER),
  );
  return (await Promise.all(clusters)).flat();
}

/** Deletes by the tags of the suite, until nothing is listed. */
async function removeAll(provider: Provider): Promise<void> {
  const clock = createSystemClock();
  const deadlineMs = clock.monotonicMs() + CLEAN_UP_MS;
  while (clock.monotonicMs() < deadlineMs) {
    const left = await listAll(provider);
    if (left.length === 0) return;
    await Promise.all(left.map(({ id }) => provider.delete(id, NEVER).catch(ignoreRetryable)));
    if ((await listAll(provider)).length > 0) await clock.sleep(POLL_MS);
  }
  throw new Error(`instances are left, which cost money: ${JSON.stringify(await listAll(provider))}`);
}

function ignoreRetryable(error: unknown): void {
  if (!isProviderError(error, 'Retryable', 'Ambiguous', 'Quota')) throw error;
}

/** Ids that no instance has. Those of clouds that choose their ids are of a form that they give, and of this place. */
function idsOf({ provider, shapes }: LiveSettings, env: Env): Pick<ContractHarness, 'unusedId' | 'futureId'> {
  const UNUSED = '0b6f4a52-8a0e-4c55-9d0d-6a0f2b6f1c11';
  if (provider === 'azure') {
    const idOf = (uid: string): string => formatAzureId(readPlace(env), vmNameOf(uid));
    return { unusedId: () => idOf(UNUSED), futureId: idOf };
  }
  const [zone] = Object.values(shapes).flatMap((each) => each.zone ?? []);
  const region = env['ALIBABA_CLOUD_REGION_ID'] ?? '';
  const unused =
    provider === 'aws'
      ? `aws:///${zone ?? `${env['AWS_REGION'] ?? ''}a`}/i-0123456789abcdef0`
      : `alibaba://${region}.i-bp67acfmxazb4p0000zz`;
  return { unusedId: () => unused, futureId: () => undefined };
}
