/** Compares the id of an instance with `spec.providerID` of a Node, which the controller of a cloud writes in its own form. Pure. */

/** The controller of Alibaba Cloud writes no scheme, or its own. */
const ALIBABA = /^(?:(?:alibaba|alicloud):\/\/)?(?<instance>[a-z]{2}(?:-[a-z0-9]+)+\.i-[0-9a-z]+)$/;

/** Tells whether the Node is on the instance. */
export function isOnInstance(instanceId: string, nodeProviderId: string): boolean {
  return commonForm(instanceId) === commonForm(nodeProviderId);
}

function commonForm(id: string): string {
  const instance = ALIBABA.exec(id)?.groups?.['instance'];
  if (instance !== undefined) return `alibaba://${instance}`;
  // Azure compares the parts of its ids without case, and writes them in several.
  return id.startsWith('azure://') ? id.toLowerCase() : id;
}
