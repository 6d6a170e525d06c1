// Counts a JUnit report as pytest writes it: {passed, failed, skipped: [{name, reason}]}.
const CASE = /<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g;

export function readJUnit(xml) {
  const outcome = { passed: 0, failed: 0, skipped: [] };
  for (const [, attributes, body = ''] of xml.matchAll(CASE)) {
    if (/<(failure|error)[ >/]/.test(body)) outcome.failed += 1;
    else if (/<skipped[ >/]/.test(body)) outcome.skipped.push({ name: nameOf(attributes), reason: attribute(body, 'message') || 'no reason given' });
    else outcome.passed += 1;
  }
  return outcome;
}

const nameOf = (attributes) => `${attribute(attributes, 'classname')}.${attribute(attributes, 'name')}`;

function attribute(text, name) {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? '';
  return value.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity) => ({ lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' })[entity]);
}
