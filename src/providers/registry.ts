/**
 * Lists the providers of machines that this version supports: those that create instances, or take hosts of a pool. A process opens those for
 * which it has options, and a machine goes to the one that its spec names.
 */
import { FOLLOWED_PROVIDERS, PROVIDERS, type ProviderName } from '../api/enums.ts';
import { ALIBABA } from './alibaba/config.ts';
import { AWS } from './aws/config.ts';
import type { AwsProviderOptions } from './aws/provider.ts';
import { AZURE } from './azure/config.ts';
import type { CloudProviderOptions } from './cloud/options.ts';
import type { Provider, ProviderKind } from './contract.ts';
import { LOCAL } from './local/config.ts';
import { type LocalProviderOptions, openLocalProvider } from './local/provider.ts';
import { SSH } from './ssh/pool/config.ts';
import { createSshProvider, type SshProviderOptions } from './ssh/pool/provider.ts';

export interface ProviderEntry<Options = never> extends ProviderKind {
  /** Tells people, in the imperative, how a process gets the options. */
  readonly startHint: string;
  open(options: Options): Promise<Provider>;
}

/** The options with which each provider is opened. */
export interface ProviderOptions {
  readonly local: LocalProviderOptions;
  readonly ssh: SshProviderOptions;
  readonly alibaba: CloudProviderOptions;
  readonly aws: AwsProviderOptions;
  readonly azure: CloudProviderOptions;
}

export const PROVIDER_REGISTRY: {
  readonly [Name in ProviderName]: ProviderEntry<ProviderOptions[Name]>;
} = {
  local: {
    ...LOCAL,
    startHint: 'run kubenode controllers with --local-machines on the machine of the instances',
    open: openLocalProvider,
  },
  ssh: {
    ...SSH,
    startHint: 'run kubenode controllers with --agent-programs',
    open: (options) => Promise.resolve(createSshProvider(options)),
  },
  alibaba: {
    ...ALIBABA,
    startHint: 'run kubenode controllers with --provider alibaba, --agent-url and --agent-sha256',
    open: async (options) => (await import('./alibaba/provider.ts')).openAlibabaProvider(options),
  },
  aws: {
    ...AWS,
    startHint: 'run kubenode controllers with --provider aws, --agent-url and --agent-sha256',
    // The modules of a cloud are loaded only by a process that uses it: the SDK takes 60 MiB of memory.
    open: async (options) => (await import('./aws/provider.ts')).openAwsProvider(options),
  },
  azure: {
    ...AZURE,
    startHint: 'run kubenode controllers with --provider azure, --agent-url and --agent-sha256',
    open: async (options) => (await import('./azure/provider.ts')).openAzureProvider(options),
  },
};

/** The providers whose machines are instances of a cloud. */
export const CLOUDS = ['alibaba', 'aws', 'azure'] as const satisfies readonly ProviderName[];
export type Cloud = (typeof CLOUDS)[number];

export type OpenProviders = Readonly<Partial<Record<Provider['name'], Provider>>>;

/**
 * Returns the entry; undefined: no process opens the provider, because another system has its instances, or because its name is from a
 * newer version of the kinds.
 */
export function findProviderEntry(name: Provider['name']): ProviderEntry | undefined {
  const known = PROVIDERS.find((each) => each === name);
  return known && PROVIDER_REGISTRY[known];
}

/** Returns what a person does so that a process opens the provider, as an imperative. */
export function startHintOf(name: Provider['name']): string {
  const entry = findProviderEntry(name);
  if (entry) return entry.startHint;
  const isFollowed = FOLLOWED_PROVIDERS.some((each) => each === name);
  return isFollowed
    ? 'use the system that has created the machine'
    : `use a version of kubenode that supports provider ${name}`;
}

/** Opens each provider that has options. */
export async function openProviders(options: Partial<ProviderOptions>): Promise<OpenProviders> {
  const opened = await Promise.all(PROVIDERS.map((name) => openProvider(name, options[name])));
  return Object.fromEntries(opened.flatMap((provider) => (provider ? [[provider.name, provider]] : [])));
}

async function openProvider<Name extends ProviderName>(
  name: Name,
  options: ProviderOptions[Name] | undefined,
): Promise<Provider | undefined> {
  return options && (await PROVIDER_REGISTRY[name].open(options));
}
