/** The options that the providers of all clouds share. */
import type { Clock } from '../../os/clock.ts';
import type { AgentDownload } from './user-data.ts';

export interface CloudProviderOptions {
  readonly clock: Clock;
  /** Where credentials, region and endpoint are named, as the tools of the cloud name them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program with which new hosts join. */
  readonly agent: AgentDownload;
  /** How long a request may take. Default: half a minute. */
  readonly timeoutMs?: number;
}

export const REQUEST_MS = 30_000;
