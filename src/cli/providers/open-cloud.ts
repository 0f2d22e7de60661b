/** Opens the provider of a cloud for a command, with the credentials, the region and the endpoint of its environment. */
import type { Provider } from '../../providers/contract.ts';
import { type Cloud, openProviders } from '../../providers/registry.ts';
import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';

/** No command creates an instance, so no host downloads anything. */
const NO_AGENT = { url: 'https://agent.invalid/agent', sha256: '0'.repeat(64) };

export async function openCloud({ clock, env }: Pick<Io, 'clock' | 'env'>, name: Cloud): Promise<Provider> {
  const opened = (await openProviders({ [name]: { clock, env, agent: NO_AGENT } }))[name];
  if (opened) return opened;
  throw new CliError(`provider ${name} was not opened`);
}
