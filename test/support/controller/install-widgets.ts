/** Installs the CRD of Widgets on a real API server, and waits until it is served. */
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { WIDGET_CRD, WIDGETS } from './widgets.ts';

const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const ATTEMPTS = 100;

export async function installWidgets(client: Client): Promise<void> {
  await client.apply(CRDS, WIDGET_CRD, { fieldManager: 'test' });
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      await client.list(WIDGETS);
      return;
    } catch (error) {
      if (!isKubeError(error) || attempt === ATTEMPTS) throw error;
      await createSystemClock().sleep(100);
    }
  }
}
