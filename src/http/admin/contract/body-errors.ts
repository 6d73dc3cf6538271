import {
  bodyRequired,
  bodyTooLarge,
  compressedBody,
  invalidJson,
  unsupportedMediaType,
} from "../../messages/error-messages.ts";
import { objectBodyRequired } from "../fields.ts";

/** The errors of operations that read a JSON body. */
export const bodyErrors = [
  "invalid_request",
  "payload_too_large",
  "unsupported_media_type",
] as const;

/** The messages of bodies that are not valid, whatever they should contain. */
export const bodyMessages = {
  body_required: bodyRequired,
  invalid_json: invalidJson,
  object_required: objectBodyRequired,
};

/** Messages of the other errors, for an operation that accepts these media types. */
export function mediaMessages(mediaTypes: readonly string[], bytesMax = 65_536) {
  return {
    payload_too_large: { payload_too_large: bodyTooLarge(bytesMax) },
    unsupported_media_type: {
      unsupported_media_type: unsupportedMediaType(mediaTypes),
      compressed_body: compressedBody,
    },
  };
}
