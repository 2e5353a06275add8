import assert from "node:assert/strict";
import { test } from "node:test";

import { contributor, started } from "./app.js";

test("a time is shown in UTC", () => {
  assert.equal(started(0n), "1970-01-01T00:00:00.000Z");
  assert.equal(started(1700000000123n), "2023-11-14T22:13:20.123Z");
});

test("a time that is unknown, or has no year of four digits, is absent", () => {
  assert.equal(started(undefined), undefined);
  assert.equal(started(253402300800000n), undefined);
  assert.equal(started(2n ** 64n - 1n), undefined);
});

test("a command without an agent gets nothing", () => {
  assert.deepEqual(contributor.resolve({ agent: undefined }), []);
});
