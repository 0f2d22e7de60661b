/** Reads the addresses of servers that the environment may name. Pure. */
import { ProviderError } from '../contract.ts';
import type { CloudProviderOptions } from './options.ts';

/** Returns the origin of the URL in the variable, or of the default where it is empty. Throws Terminal for a text that is not a URL. */
export function readEndpoint(env: CloudProviderOptions['env'], name: string, otherwise: string): string {
  const text = env[name] || otherwise;
  const url = URL.parse(text);
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.origin;
  const message = `expected a URL in ${name}, such as ${otherwise}, got ${JSON.stringify(withoutUser(text))}`;
  throw new ProviderError('Terminal', message, { reason: 'InvalidEndpoint' });
}

/** Leaves out what is before the last @, however long it is: it may have a password. */
function withoutUser(text: string): string {
  return text.replace(/.*@/s, '…@').slice(0, 100);
}
