// The one way into the generated code: the engine's functions as the module exports them (Z_qjsZ_...).
#pragma once

#include "engine/script/wasm_prelude.h"
#include "qjs.h"
