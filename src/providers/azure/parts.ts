/** Defines what the acts of provider azure share. */
import type { Clock } from '../../os/clock.ts';
import type { AgentDownload } from '../cloud/user-data.ts';
import type { ArmApi } from './api/client.ts';
import type { AzureLookup } from './lookup.ts';
import type { AzurePlace } from './place.ts';

export interface AzureParts {
  readonly api: ArmApi;
  readonly lookup: AzureLookup;
  readonly place: AzurePlace;
  readonly clock: Clock;
  readonly agent: AgentDownload;
}
