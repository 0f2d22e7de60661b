/** The driver of pods on a real API server as hub, with the installed rights of hosting: what every driver fulfills, and what only a hub has. */
import { afterAll, beforeAll } from 'vitest';
import { PODS } from '../../../../../support/hosting/contract/faults.ts';
import { describePlaneDriver } from '../../../../../support/hosting/driver-contract.ts';
import { type Hub, openHubBed, startHub } from '../../../../../support/hosting/hub-bed.ts';

let hub: Hub;

beforeAll(async () => {
  hub = await startHub();
});
afterAll(() => hub?.stop());

describePlaneDriver('pods of a hub', () => openHubBed(hub), PODS);
